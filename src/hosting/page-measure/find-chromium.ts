import { access, constants } from 'node:fs/promises'

/** Where Debian, Ubuntu and Google’s own packages have it. */
const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine’s Chromium; undefined: it has none. @param named as the settings say */
export async function findChromium(named: string | undefined): Promise<string | undefined> {
  for (const path of named === undefined ? usual : [named]) {
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isThere) return path
  }
  return undefined
}
