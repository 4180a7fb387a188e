import { readFile } from 'node:fs/promises'
import { OperatorError } from '../operator-error.ts'

/**
 * Reads a file that a setting names.
 * @param check throws if the text is not valid for the setting
 * @throws OperatorError with the file, the setting and the reason
 */
export async function readSettingFile(
  file: string,
  variable: string,
  check: (text: string) => unknown,
): Promise<string> {
  try {
    const text = await readFile(file, 'utf8')
    check(text)
    return text
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new OperatorError(
      `${file} (${variable}) cannot be used: ${code === 'ENOENT' ? 'the file does not exist' : message}.`,
      { cause: error },
    )
  }
}
