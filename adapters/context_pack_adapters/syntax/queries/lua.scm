; Definitions
(function_declaration name: (identifier) @name body: (_)? @body) @function
(function_declaration
  name: (dot_index_expression table: (_) @owner field: (identifier) @name) body: (_)? @body) @function
(function_declaration
  name: (method_index_expression table: (_) @owner method: (identifier) @name) body: (_)? @body) @method
(assignment_statement
  (variable_list . name: (identifier) @name) (expression_list . value: (function_definition body: (_)? @body))) @function
(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @owner field: (identifier) @name))
  (expression_list . value: (function_definition body: (_)? @body))) @function
(variable_declaration (assignment_statement
  (variable_list . name: (identifier) @name) (expression_list . value: (function_definition body: (_)? @body)))) @function
(field name: (identifier) @name value: (function_definition body: (_)? @body)) @method
(chunk (variable_declaration (assignment_statement
    (variable_list . name: (identifier) @name) (expression_list . value: (_) @body))) @constant
  (#not-match? @body "^require\\b"))

; Imports
(function_call
  name: (identifier) @call (#eq? @call "require")
  arguments: (arguments (string) @specifier)) @import

; What stands beside code
(comment) @comment
(string) @string
