import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** The code blocks of a page that are of a language, without those that say `no-run`, each with the heading that it stands below. */
export function examplesOf(page: string, language: string): [heading: string, code: string][] {
  const text = readFileSync(page, 'utf8')
  let heading = ''
  const found: [string, string][] = []
  for (const [, title, kind, code = ''] of text.matchAll(/^#+ (.+)$|^```(.+)\n([\s\S]*?)^```$/gm)) {
    if (title) heading = title
    else if (kind === language) found.push([heading, code])
  }
  return found
}

/** Stands before what an example prints. */
const mark = '-- next --'

/**
 * Runs all that a page has for a shell in one shell, as somebody does who follows it, up to the first command that fails.
 * @param change what is put in place of a command's usual names and ports
 * @returns what was printed below each heading, errors included
 * @throws with what all had printed up to then, when a command fails
 */
export async function runPage(
  page: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string; readonly change?: (code: string) => string },
): Promise<Map<string, string>> {
  const examples = examplesOf(page, 'sh')
  const script = examples.map(([heading, code]) => `echo '${mark}${heading}'\n${code}`).join('\n')
  const code = `set -eo pipefail\nexec 2>&1\n${options.change?.(script) ?? script}`
  const { stdout } = await promisify(execFile)('bash', ['-c', code], { timeout: 280_000, ...options }).catch(
    (error: Error & { stdout?: string }) => {
      throw new Error(`${page}: ${error.message.split('\n')[0]}\n${error.stdout ?? ''}`)
    },
  )
  const said = new Map<string, string>()
  for (const part of stdout.split(mark).slice(1)) {
    const [, heading, text] = /^(.*)\n([\s\S]*)$/.exec(part) as unknown as [string, string, string]
    said.set(heading, (said.get(heading) ?? '') + text)
  }
  return said
}
