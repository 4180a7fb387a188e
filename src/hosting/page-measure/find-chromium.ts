import { firstProgram } from '../../platform/files/find-program.ts'

/** The paths in the packages of Debian, Ubuntu, and Google. */
const usual = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Returns the machine’s Chromium, or undefined if it has none. @param named the path in the settings */
export const findChromium = (named: string | undefined): Promise<string | undefined> =>
  firstProgram(named === undefined ? usual : [named])
