"""The kinds of files that a search can be limited to, by the names that ripgrep has for them."""

from __future__ import annotations

_ENDINGS = """
asm: *.asm *.S *.s
c: *.c *.h
clojure: *.clj *.cljc *.cljs
cmake: *.cmake CMakeLists.txt
cpp: *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl
cs: *.cs
csharp: *.cs
css: *.css *.scss
csv: *.csv
dart: *.dart
docker: Dockerfile *Dockerfile*
elixir: *.ex *.exs
elm: *.elm
erlang: *.erl *.hrl
fsharp: *.fs *.fsi *.fsx
go: *.go
graphql: *.graphql *.graphqls
groovy: *.groovy *.gradle
h: *.h *.hh *.hpp
haskell: *.hs *.lhs
html: *.htm *.html
java: *.java
js: *.js *.jsx *.cjs *.mjs *.vue
json: *.json
julia: *.jl
kotlin: *.kt *.kts
less: *.less
log: *.log
lua: *.lua
make: Makefile *.mk *.mak GNUmakefile makefile
markdown: *.md *.markdown *.mdx *.mdown
md: *.md *.markdown *.mdx *.mdown
nix: *.nix
objc: *.h *.m
ocaml: *.ml *.mli
perl: *.pl *.pm *.t
php: *.php *.phtml
protobuf: *.proto
ps: *.ps1 *.psm1 *.psd1
py: *.py *.pyi
python: *.py *.pyi
r: *.R *.r *.Rmd
ruby: *.rb *.gemspec Gemfile Rakefile
rust: *.rs
sass: *.sass *.scss
scala: *.scala *.sbt
sh: *.sh *.bash *.zsh *.ksh *.bashrc *.profile
sql: *.sql *.psql
svelte: *.svelte
swift: *.swift
tex: *.tex *.cls *.sty *.bib
tf: *.tf *.tfvars
toml: *.toml Cargo.lock
ts: *.ts *.tsx *.cts *.mts
txt: *.txt
typescript: *.ts *.tsx *.cts *.mts
vue: *.vue
xml: *.xml *.xsd *.xsl *.xslt
yaml: *.yaml *.yml
zig: *.zig
"""

#: the globs of file names, by the kind
TYPES: dict[str, tuple[str, ...]] = {
    kind: tuple(names.split()) for kind, names in (line.split(": ") for line in _ENDINGS.strip().splitlines())
}
