/**
 * Variables of the service that programs in a box get: where toolchains are, how they build, and how texts and times are written. All
 * others stay outside, as any of them may hold a secret. Folders of caches are left out: in a box they are in its home.
 */
const NAMES = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'LC_[A-Z]+', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR',
  'COLUMNS', 'LINES', 'CI', 'SOURCE_DATE_EPOCH',
  'GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)',
  // Certificates of companies, without which no host of `network` is believed.
  'SSL_CERT_(?:FILE|DIR)', 'NODE_EXTRA_CA_CERTS', '(?:CURL|REQUESTS)_CA_BUNDLE', 'GIT_SSL_CAINFO', 'PIP_CERT', 'NIX_SSL_CERT_FILE',
  // Node and npm.
  'NVM_(?:DIR|BIN|INC)', 'VOLTA_HOME', 'FNM_(?:DIR|MULTISHELL_PATH)', 'NODENV_(?:ROOT|VERSION)', 'BUN_INSTALL', 'DENO_INSTALL',
  'PNPM_HOME', 'npm_config_registry', 'COREPACK_[A-Z_]+',
  // Python.
  'PYENV_(?:ROOT|VERSION|SHELL)', 'VIRTUAL_ENV', 'CONDA_(?:PREFIX|DEFAULT_ENV|EXE|SHLVL)',
  'PYTHON(?:UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8)',
  'PIP_(?:INDEX_URL|EXTRA_INDEX_URL|FIND_LINKS|DISABLE_PIP_VERSION_CHECK|DEFAULT_TIMEOUT)', 'UV_(?:INDEX_URL|DEFAULT_INDEX|PYTHON)',
  // Go, Rust and C.
  'GO(?:ROOT|PATH|FLAGS|PROXY|SUMDB|NOSUMDB|PRIVATE|NOPROXY|TOOLCHAIN|OS|ARCH|EXPERIMENT)', 'CGO_ENABLED', 'GOENV_ROOT',
  'RUSTUP_(?:HOME|TOOLCHAIN|AUTO_INSTALL)', 'RUSTFLAGS', 'RUST_(?:BACKTRACE|LOG)',
  'CC', 'CXX', 'CPP', 'AR', '(?:C|CXX|CPP|LD|MAKE)FLAGS', 'PKG_CONFIG_PATH', 'CMAKE_(?:GENERATOR|PREFIX_PATH|BUILD_PARALLEL_LEVEL)',
  // Java, .NET, Ruby and others.
  'JAVA_HOME', '(?:MAVEN|M2|GRADLE|KOTLIN|SCALA|ANDROID|FLUTTER)_(?:HOME|ROOT)', 'ANDROID_SDK_ROOT', 'SDKMAN_DIR', 'JENV_ROOT',
  'DOTNET_(?:ROOT|CLI_TELEMETRY_OPTOUT|NOLOGO)', 'GEM_(?:HOME|PATH)', 'RBENV_(?:ROOT|VERSION)', 'ASDF_(?:DIR|DATA_DIR)', 'MISE_DATA_DIR',
  'HOMEBREW_PREFIX', 'NIX_(?:PATH|PROFILES)'
]
const ALLOWED = new RegExp(`^(?:${NAMES.join('|')})$`)

/** An address with a password in it. */
const LOGIN = /[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i

/** Returns the variables of this environment that programs in a box get, without addresses that hold a password. */
export function boxEnvironment (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPlain = ([name, value]: [string, string | undefined]) => value !== undefined && ALLOWED.test(name) && !LOGIN.test(value)
  return Object.fromEntries(Object.entries(environment).filter(isPlain))
}

/** Variables of a box without a network: programs then say at once that there is none, in the place of trying for minutes. */
export const OFFLINE: NodeJS.ProcessEnv = {
  npm_config_fetch_retries: '0',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  // Without a second try pip does not say why it found nothing.
  PIP_RETRIES: '1',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_OFFLINE: 'true'
}
