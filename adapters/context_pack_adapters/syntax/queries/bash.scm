; Definitions
(function_definition name: (word) @name body: (_) @body) @function

; What stands beside code
(comment) @comment
[(string) (raw_string) (ansi_c_string) (heredoc_body)] @string
