"""Tables that distinguish claims from words: file endings, programs, names of no repository, phrases.

They are here so that what counts as a claim can be read, and changed, in one place. When in doubt a word is in a
table that makes it *not* a claim: a claim that is checked wrongly costs more than one that is not checked.
"""

from __future__ import annotations

import re

from foretold.text.patterns import lazy


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: endings of files; no ending is here that is also a usual last part of a dotted name (`np.dot`, `console.log`)
EXTENSIONS = _words("""
    adoc astro bash bat bazel bzl c cc cfg cjs clj cmake conf cpp cs css csv cts cxx dart dockerfile ejs elm erl ex
    exs fish fs gemspec go gql gradle graphql groovy h hbs hcl hpp hrl hs htm html ini ipynb j2 java jl js json
    json5 jsonc jsonl jsx kt kts less lock lua m4 md mdc mdx mjs mk ml mli mm mts nim nix pdf php pl plist png po
    prisma properties proto ps1 pug py pyi pyx r rb rkt rs rst sass sbt scala scss sh snap sol sql sqlite svelte svg
    swift tf tfvars tmpl toml ts tsv tsx txt vim vue wasm xml xsd yaml yml zig zsh
""")
#: files that are known by their whole name
FILES = _words("""
    Brewfile CODEOWNERS Caddyfile Dockerfile Gemfile Jenkinsfile Justfile LICENSE Makefile Pipfile Procfile Rakefile
    Taskfile Tiltfile Vagrantfile justfile makefile .babelrc .bashrc .clang-format .coveragerc .dockerignore
    .editorconfig .env .env.example .env.local .envrc .eslintignore .eslintrc .flake8 .gitattributes .gitignore
    .gitmodules .mailmap .node-version .npmignore .npmrc .nvmrc .prettierignore .prettierrc .pylintrc
    .python-version .ruby-version .stylelintrc .tool-versions .yarnrc go.mod go.sum go.work Cargo.lock Gemfile.lock
    composer.lock flake.lock poetry.lock uv.lock yarn.lock
""")
#: endings that a name without folder may have as an attribute: `mutex.lock`, `response.json` on the objects below
ATTRIBUTES = _words("less lock po properties snap")
OF_OBJECTS = _words("html json lock ts xml")
OBJECTS = _words("args cls ctx event mutex obj r req request res resp response self this")
#: endings of documents: what only they mention may have been gone for long
PROSE = (".md", ".mdx", ".rst", ".txt", ".adoc", ".mdc", ".org", ".po", ".html", ".csv", ".jsonl")
#: documents by their ending, and not by what they say
REQUIREMENTS = lazy(r"(?:^|/)(?:requirements?|constraints?)\b[^/]*(?:/[^/]+)*\.txt$", re.IGNORECASE)
#: folders whose files define names for themselves
SECONDARY = _words("""
    __mocks__ __tests__ bench benches benchmark benchmarks demo demos doc docs e2e example examples fixtures
    node_modules playground sample samples spec specs test testdata tests third_party vendor
""")
#: names of files that do
TESTS = lazy(r"^test_|_test\.\w+$|\.(?:spec|test|stories)\.\w+$|^conftest\.py$")
#: documents that say what became of things: a name that only they have is gone
_NOTES = lazy(
    r"^(?:change(?:s|log|logs)?|history|news|releases?|release[-_ ]?notes?|what['’]?s?[-_ ]?new"
    r"|(?:breaking|api)[-_]changes|migrat(?:ion|ing|e)|upgrad(?:e|ing)|deprecations?)(?![a-z])",
    re.IGNORECASE,
)
_NOTE_FOLDERS = _words("""
    changelog changelog.d changelogs changes history news newsfragments release-notes release_notes releasenotes
    releases whatsnew migration migrating upgrading
""")

#: names that look like files and are not
PRODUCTS = _words(
    "node.js next.js nuxt.js vue.js react.js express.js three.js d3.js chart.js ember.js backbone.js alpine.js "
    "angular.js moment.js socket.io deno.js discord.js nest.js nestjs.js p5.js require.js solid.js"
)
#: top folders of a file system; another text with a leading slash is a route
TOP = _words("Applications Library Users bin dev etc home lib mnt opt private proc root srv sys tmp usr var")
#: last parts of domain names
DOMAINS = _words("ai app biz cloud co com de dev edu eu fr gov info io jp me net nl org so tech tv uk us xyz")

#: programs: a code span that starts with one is a command, and a flag next to one may belong to it
TOOLS = _words("""
    ansible apt aws az bash bazel black brew bun bundle bunx cargo cat cd chmod chown claude cmake codex composer
    conda cp curl dbt deno docker docker-compose dotnet echo eslint export find flake8 gcloud gcc gemini gh git go
    gradle grep gunzip head helm hg java jest jq just kill kubectl less ln ls lsof make mkdir mocha mv mvn mypy
    mysql nc next ng nix node npm npx nvm nx open php pip pip3 pipenv pnpm poetry pre-commit prettier protoc ps psql
    pulumi pytest python python3 rails rake redis-cli rg rm rsync ruby ruff rustc rustup scp sed sh source sqlite3
    ssh sudo svn swift tail tar terraform time touch tox tsc turbo uv uvicorn uvx vim vite vitest wget which xargs
    xcodebuild yarn yq zsh
""")

#: names that look like symbols and are of a language, a common library, a product or an agent's tool
NAMES = _words("""
    GitHub GitLab BitBucket JavaScript TypeScript CoffeeScript PostgreSQL MySQL NoSQL SQLite GraphQL OpenAI FastAPI
    YouTube LinkedIn MongoDB DynamoDB CockroachDB BigQuery DevOps MacOS macOS iOS iPhone iPad IntelliJ PyCharm
    WebStorm VSCode NextJS NodeJS ReactJS NumPy PyPI PyTorch TensorFlow SciPy OpenAPI WebSocket WebSockets
    WebAssembly WebRTC OAuth CircleCI TravisCI DataDog LaunchDarkly PagerDuty CloudFlare CloudWatch CloudFormation
    GitOps ChatGPT DeepSeek ElasticSearch RabbitMQ ClickHouse StackOverflow WordPress PowerShell DockerHub HashiCorp
    ArgoCD JetBrains NeoVim TailwindCSS PostCSS FontAwesome StoryBook SonarQube AirTable ClickUp HubSpot SalesForce
    QuickBooks PayPal eBay TodoWrite TodoRead WebFetch WebSearch MultiEdit NotebookEdit NotebookRead ExitPlanMode
    EnterPlanMode BashOutput KillShell SlashCommand AskUserQuestion TaskCreate TaskUpdate TaskList TaskGet
    TaskOutput ToolSearch SendMessage SessionStart SessionEnd PreToolUse PostToolUse UserPromptSubmit SubagentStop
    PreCompact camelCase PascalCase snake_case kebab_case UPPER_CASE SCREAMING_SNAKE_CASE CamelCase UPPER_SNAKE_CASE
    useState useEffect useMemo useCallback useRef useContext useReducer useLayoutEffect useId useTransition
    setTimeout setInterval clearTimeout clearInterval requestAnimationFrame addEventListener querySelector
    getElementById innerHTML localStorage sessionStorage preventDefault parseInt parseFloat toString hasOwnProperty
    forEach instanceof typeof beforeEach afterEach beforeAll afterAll className onClick onChange
    dangerouslySetInnerHTML TypeError ValueError KeyError IndexError AttributeError RuntimeError ImportError
    ModuleNotFoundError OSError IOError NotImplementedError AssertionError FileNotFoundError PermissionError
    TimeoutError UnicodeDecodeError StopIteration KeyboardInterrupt SystemExit RecursionError ZeroDivisionError
    NameError SyntaxError ReferenceError RangeError DeprecationWarning UserWarning NullPointerException
    IllegalArgumentException NamedTuple TypedDict ThreadPoolExecutor ProcessPoolExecutor BaseModel ArrayBuffer
    ReadableStream AbortController FormData URLSearchParams node_modules site_packages __init__ __main__ __name__
    __file__ __all__ __dict__ __str__ __repr__ __pycache__ __dirname __filename is_instance run_in_background
    subagent_type file_path old_string new_string NODE_ENV NODE_OPTIONS NODE_PATH PYTHON_PATH PYTHONPATH
    LD_LIBRARY_PATH XDG_CONFIG_HOME XDG_STATE_HOME XDG_CACHE_HOME JAVA_HOME GOPATH AWS_PROFILE AWS_REGION
    AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY GITHUB_TOKEN GH_TOKEN NO_COLOR ANTHROPIC_API_KEY OPENAI_API_KEY GIT_DIR
    GIT_EDITOR LC_ALL SSH_AUTH_SOCK DOCKER_HOST CLAUDE_CODE CLAUDE_PROJECT_DIR utf_8 ISO_8859_1 UTF_8 x86_64 arm_64
""")
#: functions of languages, written as `len()`
CALLS = _words("""
    abs all any assert bool bytes catch close collections dict dir eval exec exit fetch filter find float format get
    getattr hasattr hash help id if import input int isinstance issubclass iter join keys len list log malloc map
    max min next object open ord panic pop pow print printf push put range read reduce repr require require_once
    reversed round set setattr sleep slice sorted split str sum super system then tuple type update values while
    write zip free main append extend then catch finally resolve reject alert test it describe expect new make cap
    copy delete switch for
""")
#: first parts of dotted names that no repository defines
ROOTS = _words("""
    Array Buffer Date Error Intl JSON Math Number Object Promise Proxy Reflect RegExp Set String Symbol URL WeakMap
    argparse array ast asyncio builtins cls collections concurrent console contextlib crypto ctypes dataclasses
    datetime decimal django document enum err errors exports flask fmt functools glob hashlib heapq http importlib
    inspect io itertools java javax jest json logging math module multiprocessing navigator np numpy operator os
    pandas path pathlib pd pickle plt process pytest queue random re react requests shlex shutil signal socket
    sqlite3 sqlalchemy std string strings struct subprocess super sys tempfile textwrap threading time tokio torch
    traceback typing unittest urllib uuid vi weakref window
""")
#: words in pairs with a slash between them
PAIRS = _words(
    "and or client server read write true false yes no input output on off in out start stop before after he she his "
    "her they them request response pass fail get set push pull up down left right open close dev prod staging"
)
#: words that stand for any name
STAND_INS = _words("foo bar baz qux foobar xxx yyy zzz example myfile my_file somefile some_file path")


def is_release_notes(path: str) -> bool:
    """Whether a document is a change log, release notes, or a guide for those who upgrade.

    >>> [is_release_notes(path) for path in ("CHANGES.rst", "docs/releases/2.0.md", "src/changes.py", "docs/api.md")]
    [True, True, False, False]
    """
    *folders, name = path.lower().split("/")
    if not name.endswith(PROSE) and "." in name.strip("."):
        return False
    return bool(_NOTES.match(name)) or not _NOTE_FOLDERS.isdisjoint(folders)


#: the sentence says that the thing is gone or has changed its name
GONE = lazy(
    r"\b(?:deleted|removed|removing|dropped|renamed|replaced|replaces|retired|superseded|supersedes|reverted|migrated"
    r"|moved|no longer|any ?more|used to|formerly|previously|(?:does|do|did)(?: not|n['’]t) (?:\w+ )?exist"
    r"|never existed|once had|gone|went away|got rid of|there(?: is|['’]s) no|the (?:old|former|previous)|in the past"
    r"|obsolete|defunct)\b",
    re.IGNORECASE,
)
#: the sentence is about a plan, or an example
NOT_YET = lazy(
    r"\b(?:planned|planning|plans? (?:to|an?|for)|we plan|next (?:year|month|quarter|sprint)|should become|if we ever"
    r"|would (?:be the (?:place|right)|live|go|become)|(?:some ?|one )day|might become|roadmap|in (?:the )?future"
    r"|going to|todo|not yet|yet to|propos(?:e|ed|al)|eventually|intends? to"
    r"|hypothetical\w*|suppose|imagine|will (?:be|add|create|introduce|have|get|live|become)|e\.g|for example"
    r"|for instance|(?:is|are|gets?) (?:auto-?)?generated)\b",
    re.IGNORECASE,
)
#: the sentence is about another place
ELSEWHERE = lazy(
    r"\b(?:(?:other|another|separate|sibling|different|their|upstream|internal|infra|external|customer\S*) (?:[\w-]+ )?"
    r"(?:repo|repositor|project|codebase|service|package|librar|machine|server|checkout|monorepo)\w*|upstream|fork\w*"
    r"|third[- ]party|not (?:a )?part of|not (?:in|of) this (?:repo|repository|project|codebase)"
    r"|(?:lives?|is|are) elsewhere|(?:is|are) not here|(?:its|their) own (?:repo|repository|project)"
    r"|users? (?:put|write|keep)"
    r"|in (?:their|your|the user['’]s) (?:own )?(?:project|app|repo)\w*"
    r"|on (?:the )?(?:server|host|cluster|box|machine|prod|production|staging)|wiki|bucket|dashboard"
    r"|(?:in|from|of|on|into) the [\w.`\x00-]+ (?:repo|repository|branch|workspace|channel|database|project))\b",
    re.IGNORECASE,
)
_FEW_WORDS = r"\s+(?:(?!(?:but|by|from|with|using|via)\b)[\w'’/-]+,?\s+|`\x00+`,?\s+){0,4}[`(\"'*]*\Z"
#: what is before a name forbids it, or prefers another: it need not exist
FORBIDDEN = lazy(
    r"\b(?:never|not|\w+n['’]t|cannot|avoid\w*|instead of|rather than|over|without|forbid\w*|banned|rejects?|refuses?"
    r"|dislikes?|stop|no|nor|unlike|versus|vs|than)" + _FEW_WORDS,
    re.IGNORECASE,
)
#: what is before a name says whose it is: of another program
OWNED = lazy(r"\b(?!(?:It|That|Let|Here|There|What|This|Who|He|She)['’])[A-Z][\w.]+['’]s\s+[`(\"'*]*\Z")
_NEW = (
    "an?|the|new|extra|separate|another|own|single|shared|file|module|folder|class|function|helper|tests?|method|script"
)
#: what is before a name says that it is to be made
MADE = lazy(
    rf"\b(?:creat\w+|add(?:s|ing|ed)?|introduc\w+|nam(?:e|ed|ing)|call(?: it| them)|new)\s+(?:(?:{_NEW})\s+)*"
    r"[`(\"'*]*\Z",
    re.IGNORECASE,
)
#: what is before a path says that a program writes it
WRITTEN = lazy(
    r"\b(?:writes?|written|saves|saved|outputs|emits|produces|generates|generated|dumps|downloads|copies)" + _FEW_WORDS,
    re.IGNORECASE,
)
#: the sentence says that a run of hexadecimal digits is a commit
COMMIT = lazy(
    r"\b(?:commits?|committed|sha|revision|rev|revert\w*|cherry[- ]?pick\w*|bisect\w*|merge[sd]?|HEAD|git)\b",
    re.IGNORECASE,
)
#: the sentence is about the environment
ENVIRONMENT = lazy(r"\b(?:env|environment|variables?|env ?vars?|export(?:ed)?|unset)\b", re.IGNORECASE)
#: the sentence names a flag as one
FLAG = lazy(r"\b(?:flags?|options?|switch(?:es)?)\b", re.IGNORECASE)
#: the sentence states a version of a language
STATED = lazy(r"\b(?:Python|Node(?:\.js)?|Go|Rust|Ruby|PHP)\s+(?:version\s+)?v?\d")
