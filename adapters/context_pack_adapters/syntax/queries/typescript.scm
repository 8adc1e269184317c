; What TypeScript adds to ecmascript.scm.

; Definitions
(abstract_class_declaration name: (_) @name body: (_) @body) @class
(interface_declaration name: (_) @name body: (_) @body) @interface
(type_alias_declaration name: (_) @name value: (_) @body) @type
(enum_declaration name: (_) @name body: (_) @body) @enum
(function_signature name: (_) @name) @function
(abstract_method_signature name: (_) @name) @method
(class_body (method_signature name: (_) @name) @method)
(interface_body (method_signature name: (_) @name) @method)
(interface_body (property_signature name: (_) @name type: (type_annotation (function_type))) @method)
(public_field_definition
  name: (_) @name
  value: [(arrow_function body: (_) @body) (function_expression body: (_) @body)]) @method

; With `export` and `declare` around them
(export_statement declaration: (abstract_class_declaration name: (_) @name)) @class
(export_statement declaration: (interface_declaration name: (_) @name)) @interface
(export_statement declaration: (type_alias_declaration name: (_) @name)) @type
(export_statement declaration: (enum_declaration name: (_) @name)) @enum
(export_statement declaration: (function_signature name: (_) @name)) @function
(ambient_declaration [(class_declaration name: (_) @name) (abstract_class_declaration name: (_) @name)]) @class
(ambient_declaration (function_signature name: (_) @name)) @function
(ambient_declaration (enum_declaration name: (_) @name)) @enum
(ambient_declaration (interface_declaration name: (_) @name)) @interface
(ambient_declaration (type_alias_declaration name: (_) @name)) @type
(program (ambient_declaration (_ . (variable_declarator name: (identifier) @name) .)) @constant)
(export_statement declaration: (ambient_declaration [
  (function_signature name: (_) @name)
  (class_declaration name: (_) @name)
  (abstract_class_declaration name: (_) @name)
  (enum_declaration name: (_) @name)
  (interface_declaration name: (_) @name)
  (type_alias_declaration name: (_) @name)])) @type
(program (export_statement declaration: (ambient_declaration (_ . (variable_declarator name: (identifier) @name) .))) @constant)

; Constants of a namespace, and exported names that get their values later
(internal_module body: (statement_block [
  (lexical_declaration (variable_declarator name: (identifier) @name value: (_) @body))
  (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name value: (_) @body)))
] @constant))
(program (export_statement declaration: (_ . (variable_declarator name: (identifier) @name !value) .)) @constant)

; Imports
(import_statement (import_require_clause source: (string) @specifier)) @import
((ERROR "import" .) @import . (arguments . (string) @specifier)) ; import("a").B<C>, which the grammar does not know
