import { firstProgram } from '../../platform/files/find-program.ts'

/** Where Debian, Ubuntu and Google’s own packages have it. */
const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** The machine’s Chromium; undefined: it has none. @param named as the settings say */
export const findChromium = (named: string | undefined): Promise<string | undefined> =>
  firstProgram(named === undefined ? usual : [named])
