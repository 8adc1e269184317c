; Definitions
(function_definition name: (name) @name body: (_) @body) @function
(method_declaration name: (name) @name body: (_)? @body) @method
(class_declaration name: (name) @name body: (_) @body) @class
(interface_declaration name: (name) @name body: (_) @body) @interface
(trait_declaration name: (name) @name body: (_) @body) @trait
(enum_declaration name: (name) @name body: (_) @body) @enum
(program (const_declaration (const_element . (name) @name) @constant))

; What stands above or beside code
(attribute_list) @attribute
(comment) @comment
[(string) (encapsed_string) (heredoc) (nowdoc)] @string
