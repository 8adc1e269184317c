; What JavaScript and TypeScript share.

; Definitions
(function_declaration name: (_) @name body: (_) @body) @function
(generator_function_declaration name: (_) @name body: (_) @body) @function
(class_declaration name: (_) @name body: (_) @body) @class
(method_definition
  name: [(property_identifier) @name (private_property_identifier) @name (computed_property_name) @name (number) @name
         (string (string_fragment) @name)]
  body: (_) @body) @method

; Names that stand for a function or a class: the declaration is theirs if it declares nothing else
(variable_declarator
  name: (identifier) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)]) @function
(lexical_declaration . (variable_declarator
  name: (identifier) @name
  value: [(arrow_function) (function_expression) (generator_function)]) .) @function
(program [
  (lexical_declaration . (variable_declarator
    name: (identifier) @name
    value: (call_expression function: (_) @_wrap arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) .) @function
  (export_statement declaration: (lexical_declaration . (variable_declarator
    name: (identifier) @name
    value: (call_expression function: (_) @_wrap arguments: (arguments . [(arrow_function body: (_) @body) (function_expression body: (_) @body)]))) .)) @function]
  (#match? @_wrap "^(React[.])?(memo|forwardRef)$"))
(variable_declarator name: (identifier) @name value: (class body: (_) @body)) @class
(lexical_declaration . (variable_declarator name: (identifier) @name value: (class)) .) @class

; Functions that are assigned: to exports, prototypes, `this`, and properties at the top of a file
(expression_statement (assignment_expression
  left: (member_expression object: (_) @_object property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])
  (#any-of? @_object "exports" "module.exports")) @function
(expression_statement (assignment_expression
  left: (member_expression object: (_) @_object property: (property_identifier) @name)
  right: (class body: (_) @body))
  (#any-of? @_object "exports" "module.exports")) @class
(expression_statement (assignment_expression
  left: (member_expression
    object: (member_expression object: (identifier) @owner property: (property_identifier) @_prototype)
    property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])
  (#eq? @_prototype "prototype")) @method
(expression_statement (assignment_expression
  left: (member_expression object: (this) property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body)])) @method
(program (expression_statement (assignment_expression
  left: (member_expression object: (identifier) @owner property: (property_identifier) @name)
  right: [(arrow_function body: (_) @body) (function_expression body: (_) @body) (generator_function body: (_) @body)])
  (#not-match? @owner "^(exports|module)$")) @method)
(expression_statement (assignment_expression
  left: (member_expression) @_exports
  right: (function_expression name: (_) @name body: (_) @body))
  (#eq? @_exports "module.exports")) @function
(expression_statement (assignment_expression
  left: (member_expression) @_exports
  right: (class name: (_) @name body: (_) @body))
  (#eq? @_exports "module.exports")) @class

; Functions in an object that has a name or is exported
(variable_declarator value: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))
(assignment_expression right: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))
(export_statement value: (object (pair
  key: [(property_identifier) @name (string (string_fragment) @name)]
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))
(variable_declarator value: (call_expression arguments: (arguments (object [
  (pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method
  (pair value: (object
    (pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))]))))
(export_statement value: (call_expression arguments: (arguments (object
  (pair key: (_) @name value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method))))

; Exports: the whole statement is the definition; what has no name is called default
(export_statement declaration: (function_declaration name: (_) @name)) @function
(export_statement declaration: (generator_function_declaration name: (_) @name)) @function
(export_statement declaration: (class_declaration name: (_) @name)) @class
(export_statement "default" @name
  value: [(arrow_function body: (_) @body) (function_expression !name body: (_) @body) (generator_function !name body: (_) @body)]) @function
(export_statement "default" @name value: (class !name body: (_) @body)) @class

; Constants at the top, but for names that stand for another module
(program [(lexical_declaration . (variable_declarator name: (identifier) @name value: (_) @body) .)
          (variable_declaration . (variable_declarator name: (identifier) @name value: (_) @body) .)] @constant
  (#not-match? @body "^(await +)?(require|import) *[(]"))
(program (_ (variable_declarator name: (identifier) @name value: (_) @body) @constant)
  (#not-match? @body "^(await +)?(require|import) *[(]"))
(program (export_statement declaration: (_ . (variable_declarator name: (identifier) @name value: (_) @body) .)) @constant)
(program (export_statement declaration: (_ (variable_declarator name: (identifier) @name value: (_) @body) @constant)))
(program [
  (_ (variable_declarator
    name: [
      (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)])
      (array_pattern (identifier) @name)]
    value: (_) @body))
  (export_statement declaration: (_ (variable_declarator
    name: [
      (object_pattern [(shorthand_property_identifier_pattern) @name (pair_pattern value: (identifier) @name)])
      (array_pattern (identifier) @name)]
    value: (_) @body)))] @constant
  (#not-match? @body "^(await +)?(require|import) *[(]"))

; What a file exports by value, and functions that are handed over by name
(export_statement "default" @name value: [(call_expression) (new_expression)] @body) @constant
(program (expression_statement (assignment_expression
  left: (member_expression object: (identifier) @_module property: (property_identifier) @name)
  right: [(call_expression) (new_expression)] @body)
  (#eq? @_module "module") (#eq? @name "exports") (#not-match? @body "^require *[(]")) @constant)
(program (expression_statement (assignment_expression
  left: (member_expression object: (_) @_object property: (property_identifier) @name)
  right: [(call_expression) (new_expression) (object) (array) (string) (number)] @body)
  (#any-of? @_object "exports" "module.exports") (#not-match? @body "^require *[(]")) @constant)
((call_expression
  function: (_) @_wrap arguments: (arguments (function_expression name: (_) @name body: (_) @body) @function))
  (#not-match? @_wrap "^(React[.])?(memo|forwardRef)$"))
(variable_declarator
  name: (identifier) @_own
  value: (call_expression arguments: (arguments (function_expression name: (_) @name body: (_) @body) @function))
  (#not-eq? @_own @name))
(export_statement value: (call_expression
  arguments: (arguments (function_expression name: (_) @name body: (_) @body) @function)))
(new_expression arguments: (arguments (function_expression name: (_) @name body: (_) @body) @function))
(call_expression function: [
  (function_expression name: (_) @name body: (_) @body) @function
  (parenthesized_expression (function_expression name: (_) @name body: (_) @body) @function)])

; Imports
(import_statement source: (string) @specifier) @import
(import_statement
  (import_clause [(identifier) @imported (named_imports (import_specifier name: (_) @imported))])
  source: (string) @specifier) @import
(export_statement source: (string) @specifier) @import
(call_expression function: (import)
  arguments: (arguments . (comment)* . [(string) (template_string . (string_fragment) .)] @specifier)) @import
(call_expression function: (identifier) @_require
  arguments: (arguments . (comment)* . [(string) (template_string . (string_fragment) .)] @specifier)
  (#eq? @_require "require")) @import

; What stands above or beside code
(decorator) @attribute
(comment) @comment
(hash_bang_line) @comment
(string) @string
(template_string) @string

; Names that are exported by lists and assignments
(export_specifier !alias name: (identifier) @exported)
(export_specifier alias: (identifier) @exported)
(expression_statement (assignment_expression
  left: (member_expression) @_exports
  right: (object [(shorthand_property_identifier) @exported (pair key: (property_identifier) @exported)]))
  (#eq? @_exports "module.exports"))
(expression_statement (assignment_expression
  left: (member_expression object: (_) @_object property: (property_identifier) @exported))
  (#any-of? @_object "exports" "module.exports"))
