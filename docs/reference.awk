# Functions on Var that the headers make of the op table: of docs/ops.md, a declaration each for Doxygen to read.
BEGIN {
  FS = " *[|] *"
  print "/// @file"
  print "/// The functions that wengert/var.hpp and wengert/ranges.hpp make of the op table. Operands may be numbers too."
  print "namespace wengert {"
}
/^[|] `/ {
  gsub(/\\[|]/, "\001")  # a bar that is no end of a cell
  $0 = $0
  name = $2
  gsub(/`/, "", name)
  if (name == "sincos") next  # has a form of its own in ranges.hpp
  condition = $4 ~ /^(`none`(; )?)+$/
  partials = condition ? "No derivative" : "Partials: " $4
  count = split($4, each, ";")
  split(count == 1 ? "x" : "a b c", operands, " ")
  text = "/// " $3 ". " partials ($7 == "" ? "" : ". " $7) ".\ntemplate <class Real>\n"
  if ($3 ~ /[.][.][.]/) {
    text = text (name == "softmax" ? "std::vector<Var<Real>>" : "Var<Real>") " " name "(const std::vector<Var<Real>>& x"
    if (name == "dot") text = text ", const std::vector<Var<Real>>& y"
  } else {
    text = text (condition ? "Cond" : "Var") "<Real> " name "("
    for (k = 1; k <= count; ++k) text = text (k > 1 ? ", " : "") "const Var<Real>& " operands[k]
  }
  gsub("\001", "|", text)
  print text ");"
}
END { print "}" }
