import { createRequire } from 'node:module'

const WAYLAND = 'This is a Wayland session, where programs may neither see the screen nor use mouse and keyboard: it takes an X11 session.'

/** Why there can be no desktop, as far as that shows without trying: a sentence, or undefined. */
export function withoutDesktop (platform: NodeJS.Platform, environment: NodeJS.ProcessEnv): string | undefined {
  if (!['linux', 'darwin', 'win32'].includes(platform)) return `There is no desktop for ${platform}.`
  try {
    createRequire(import.meta.url).resolve('robotjs')
  } catch {
    return 'The package robotjs is not installed.'
  }
  if (platform !== 'linux') return undefined
  // With both, DISPLAY is that of a helper which knows of no window but its own.
  if (environment.WAYLAND_DISPLAY) return WAYLAND
  return environment.DISPLAY ? undefined : 'There is no display: DISPLAY is not set.'
}
