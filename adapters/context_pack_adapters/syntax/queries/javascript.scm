; What JavaScript adds to ecmascript.scm.
(field_definition
  property: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method

(html_comment) @comment
