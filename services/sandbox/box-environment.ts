/**
 * Patterns for the environment variables that programs in a box (a sandbox) get: places of toolchains, build settings, locale and time
 * zone. All other variables are left out, because any of them might hold a secret. So are cache folders: in a box, caches are in the home
 * of the box.
 */
const NAMES = [
  'PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LANGUAGE', 'LC_[A-Z]+', 'TZ', 'TERM', 'COLORTERM', 'NO_COLOR', 'FORCE_COLOR',
  'COLUMNS', 'LINES', 'CI', 'SOURCE_DATE_EPOCH',
  'GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL|DATE)',
  // Certificates of company networks: without them, programs there trust no host of `network`.
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

/** Matches a URL that contains a password. */
const LOGIN = /[a-z][a-z0-9+.-]*:\/\/[^/?#\s]*:[^/?#\s]*@/i

/**
 * Returns the variables of this environment that programs in a box get. A variable whose value contains a URL with a password is left out.
 */
export function boxEnvironment (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const isPlain = ([name, value]: [string, string | undefined]) => value !== undefined && ALLOWED.test(name) && !LOGIN.test(value)
  return Object.fromEntries(Object.entries(environment).filter(isPlain))
}

/**
 * Variables for a box without a network: they make package managers report the missing network at once, instead of retrying for minutes.
 */
export const OFFLINE: NodeJS.ProcessEnv = {
  npm_config_fetch_retries: '0',
  npm_config_audit: 'false',
  npm_config_fund: 'false',
  // Without a retry, pip does not say why it found nothing.
  PIP_RETRIES: '1',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_OFFLINE: 'true'
}
