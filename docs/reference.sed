# What Doxygen reads. The comment that a header opens with is the text of that file.
1,/^[^/]/ {
  s|^// \(wengert/[a-z_]*\.hpp\): |/// @file \1\
/// |
  s|^//   \(.*\)|///     \1|
  s|^// |/// |
  s|^//$|///|
}
# No instantiations: to Doxygen they are more functions.
/^extern template/ {
  :more
  /;$/! {
    N
    b more
  }
  s|[^\n]*||g
}
# What a page links to and is no page itself lies in the tree.
s#](\(\.\./\)*\(\(examples\|include\|results\)/\([^)]*[^)d]\)\?\))#](../../../\2)#g
