import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { inFolder } from '../site-files/open-inside.ts'

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MOST_CHARACTERS = 2000
/** Follows no link and does not block, because the site may have put anything there. */
const APPEND = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK

/**
 * Writes a line of Stead into a site's PHP log, in PHP's own format. It reports what PHP cannot, because PHP was ended.
 * @param text one sentence; the site may control parts of it
 */
export async function sayInPhpLog(
  { siteDirectory, uid }: { readonly siteDirectory: string; readonly uid: number | null },
  text: string,
  now = new Date(),
): Promise<void> {
  const twoDigits = (number: number) => String(number).padStart(2, '0')
  const day = `${twoDigits(now.getUTCDate())}-${MONTHS[now.getUTCMonth()]}-${now.getUTCFullYear()}`
  const time = [now.getUTCHours(), now.getUTCMinutes(), now.getUTCSeconds()].map(twoDigits).join(':')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a line of a log has none
  const words = text.replace(/[\u0000-\u001f\u007f]+/g, ' ').slice(0, MOST_CHARACTERS)
  await inFolder(siteDirectory, 'private', async (folder) => {
    const file = await open(`${folder}/php-error.log`, APPEND, 0o644)
    try {
      if (!(await file.stat()).isFile()) return
      // It may be the first line.
      if (uid !== null) await file.chown(uid, uid)
      await file.write(`[${day} ${time} UTC] Stead: ${words}\n`)
    } finally {
      await file.close()
    }
  })
}
