// The main process of an Electron app: it starts the local agent service, keeps it running, and tells its window where it is.
// README.md in this folder says how the parts are packed.
import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { app, BrowserWindow, ipcMain, net, Notification, protocol, safeStorage } from 'electron'
import { createSupervisor, ServiceEnded } from 'local-agent-service/supervisor'

/** Pages of the app. The service must know this origin; a page of file:// has none that it could know. */
const ORIGIN = 'app://shell'
const PAGES = join(app.getAppPath(), 'pages')
const home = join(app.getPath('userData'), 'agent')
/** Made anew at each start and never written: other programs of this machine cannot use the service. */
const token = randomBytes(32).toString('base64url')

protocol.registerSchemesAsPrivileged([{ scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } }])

/** In a packed app the sidecar lies beside the app's resources. Before, the supervisor finds the installed package by itself. */
const command = app.isPackaged ? join(process.resourcesPath, 'local-agent', 'local-agent') : undefined

/** The passphrase of the data, encrypted with a key in the system's keychain. */
function passphrase (): string | undefined {
  if (!safeStorage.isEncryptionAvailable()) return undefined
  const file = join(app.getPath('userData'), 'passphrase')
  try {
    return safeStorage.decryptString(readFileSync(file))
  } catch (error) {
    // Only a missing file is replaced: without the old passphrase the data cannot be read.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const made = randomBytes(32).toString('base64url')
  writeFileSync(file, safeStorage.encryptString(made), { mode: 0o600, flush: true })
  return made
}

/** Lets pages of the app call the service. Other settings in the file stay as they are. */
function allowOrigin () {
  const file = join(home, 'config.json')
  mkdirSync(home, { recursive: true, mode: 0o700 })
  try {
    writeFileSync(file, JSON.stringify({ allowedOrigins: [ORIGIN] }), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

app.whenReady().then(async () => {
  protocol.handle('app', ({ url }) => {
    const path = join(PAGES, decodeURIComponent(new URL(url).pathname))
    return path.startsWith(PAGES + sep) ? net.fetch(pathToFileURL(path).href) : new Response(null, { status: 404 })
  })
  allowOrigin()
  /** What is shown now, by the ids of the service. Without a reference a notification could be collected before it is pressed. */
  const shown = new Map<string, Notification>()
  const supervisor = createSupervisor({
    command,
    args: ['--port', '0'],
    env: { ...process.env, LOCAL_AGENT_HOME: home },
    secrets: { token, passphrase: passphrase() },
    onNotification ({ notificationId, title, text = '' }) {
      const notification = new Notification({ title, body: text })
      notification.on('click', () => BrowserWindow.getAllWindows()[0]?.show())
      shown.set(notificationId, notification)
      notification.show()
    },
    onNotificationClosed (notificationId) {
      shown.get(notificationId)?.close()
      shown.delete(notificationId)
    }
  })

  let isEnded = false
  app.on('before-quit', (event) => {
    if (isEnded) return
    // The quit waits until the service has ended its runs and closed its store.
    event.preventDefault()
    void supervisor.stop().finally(() => {
      isEnded = true
      app.quit()
    })
  })

  ipcMain.handle('agent:where', async ({ senderFrame }) => {
    // A frame of another origin gets no token.
    if (senderFrame === null || senderFrame.origin !== ORIGIN) throw new Error('This page may not use the agent.')
    try {
      const { url } = await supervisor.start()
      return { url, token }
    } catch (error) {
      throw error instanceof ServiceEnded ? new Error(`${error.message}\n${error.log.at(-1) ?? ''}`) : error
    }
  })

  const window = new BrowserWindow({
    webPreferences: { preload: join(import.meta.dirname, 'preload.cjs'), sandbox: true, contextIsolation: true }
  })
  await window.loadURL(`${ORIGIN}/index.html`)
}).catch((error) => {
  console.error(error)
  app.exit(1)
})
