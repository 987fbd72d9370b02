/** Names of folders that hold keys and credentials, in lower case; `/` separates the names of nested folders. */
const FOLDERS = [
  '.ssh', '.gnupg', '.aws', '.azure', '.kube', '.password-store', '.config/gcloud', '.config/gh', '.config/doctl', '.config/op',
  // Keychains.
  'library/keychains', '.local/share/keyrings', '.local/share/kwalletd', 'appdata/roaming/microsoft/credentials',
  'appdata/local/microsoft/credentials', 'appdata/roaming/microsoft/protect', 'appdata/local/microsoft/vault',
  // Profiles of browsers and of programs for mail, with cookies and passwords.
  '.mozilla', '.thunderbird', 'snap/firefox', '.config/google-chrome', '.config/chromium', '.config/microsoft-edge',
  '.config/bravesoftware', '.config/opera', '.config/vivaldi', '.var/app/org.mozilla.firefox', '.var/app/com.google.chrome',
  'library/application support/google/chrome', 'library/application support/firefox', 'library/application support/bravesoftware',
  'library/application support/microsoft edge', 'library/application support/chromium', 'library/application support/arc',
  'library/cookies', 'library/safari', 'appdata/local/google/chrome/user data', 'appdata/local/microsoft/edge/user data',
  'appdata/local/bravesoftware', 'appdata/local/chromium', 'appdata/roaming/mozilla', 'appdata/roaming/opera software',
  // Of the system.
  'etc/ssh', 'etc/ssl/private', 'etc/pki/tls/private', 'etc/letsencrypt', 'etc/wireguard', 'etc/sudoers.d'
]
const FILES = [
  '.netrc', '_netrc', '.pgpass', '.git-credentials', '.pypirc', '.docker/config.json', '.config/git/credentials', '.vault-token',
  'id_rsa', 'id_dsa', 'id_ecdsa', 'id_ed25519', 'etc/shadow', 'etc/gshadow', 'etc/krb5.keytab'
]
const inAny = (names: readonly string[]) => names.map((name) => name.replace(/[.]/g, '\\.')).join('|')
const FOLDER = new RegExp(`/(?:${inAny(FOLDERS)})(?:/|$)`)
const FILE = new RegExp(`/(?:${inAny(FILES)})$`)

/** True if a path is a file with keys or credentials of a person or the system, or is in a folder of them, wherever that folder is. */
export function isCredential (path: string): boolean {
  const plain = `/${path.replaceAll('\\', '/').toLowerCase()}`
  return FOLDER.test(plain) || FILE.test(plain)
}
