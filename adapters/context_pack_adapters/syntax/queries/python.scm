; Definitions
(function_definition name: (identifier) @name body: (block . (expression_statement . (string) @docstring)? ) @body) @function
(decorated_definition definition: (function_definition name: (identifier) @name body: (_) @body)) @function
(class_definition name: (identifier) @name body: (block . (expression_statement . (string) @docstring)? ) @body) @class
(decorated_definition definition: (class_definition name: (identifier) @name body: (_) @body)) @class
(module (expression_statement (assignment left: (identifier) @name right: (_) @body)) @constant)
(module (expression_statement (assignment left: (pattern_list (identifier) @name) right: (_) @body)) @constant)
(module [
  (if_statement consequence: (block (expression_statement (assignment left: (identifier) @name right: (_) @body)) @constant))
  (if_statement alternative: (_ (block (expression_statement (assignment left: (identifier) @name right: (_) @body)) @constant)))
  (try_statement body: (block (expression_statement (assignment left: (identifier) @name right: (_) @body)) @constant))
  (try_statement (_ (block (expression_statement (assignment left: (identifier) @name right: (_) @body)) @constant)))])
(module (expression_statement (assignment right: (assignment left: (identifier) @name right: (_) @body))) @constant)
(type_alias_statement
  left: (type [(identifier) @name (generic_type . (identifier) @name)])
  right: (_) @body) @type

; Imports: "import" names modules, "from" takes names out of one
(import_statement name: (dotted_name) @specifier (#set! how "import")) @import
(import_statement name: (aliased_import name: (dotted_name) @specifier) (#set! how "import")) @import
(import_from_statement
  module_name: (_) @specifier
  name: [(dotted_name) @imported (aliased_import name: (dotted_name) @imported)]
  (#set! how "from")) @import
(import_from_statement module_name: (_) @specifier (wildcard_import) @imported (#set! how "from")) @import

; Names that are listed as public
(module (expression_statement (assignment
  left: (identifier) @list (#eq? @list "__all__")
  right: [(list (string (string_content) @exported)) (tuple (string (string_content) @exported))])))

; What stands above or beside code
(decorator) @attribute
(comment) @comment
(string) @string
(module . (comment)* . (expression_statement . (string) @head))

; Defaults of type parameters
(type_parameter (ERROR) @newer)
