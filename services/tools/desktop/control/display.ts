import { createRequire } from 'node:module'

const WAYLAND = 'This is a Wayland session, where programs may neither see the screen nor use mouse and keyboard: it takes an X11 session.'

/** Returns a sentence saying why there can be no desktop; undefined when nothing speaks against it without trying. */
export function desktopProblem (platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string | undefined {
  if (!['linux', 'darwin', 'win32'].includes(platform)) return `There is no desktop for ${platform}.`
  try {
    createRequire(import.meta.url).resolve('robotjs')
  } catch {
    return 'The package robotjs is not installed.'
  }
  if (platform !== 'linux') return undefined
  // When both are set, DISPLAY belongs to XWayland, which sees only the windows of X11 programs.
  if (environment.WAYLAND_DISPLAY) return WAYLAND
  return environment.DISPLAY ? undefined : 'There is no display: DISPLAY is not set.'
}
