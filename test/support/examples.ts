import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'

/** Returns the code blocks of a page in one language, without those marked `no-run`, each with its heading. */
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

/** Separates the outputs of examples. */
const mark = '-- next --'

/**
 * Runs all shell commands of a page in one shell, as a reader would, up to the first one that fails.
 * @param change replaces the usual names and ports in commands
 * @returns the output below each heading, errors included
 * @throws with all output so far, when a command fails
 */
export async function runPage(
  page: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly cwd?: string; readonly change?: (code: string) => string },
): Promise<Map<string, string>> {
  const examples = examplesOf(page, 'sh')
  const script = examples.map(([heading, code]) => `echo '${mark}${heading}'\n${code}`).join('\n')
  const code = `set -eo pipefail\nexec 2>&1\n${options.change?.(script) ?? script}`
  const { stdout } = await promisify(execFile)('bash', ['-c', code], { timeout: 1_200_000, ...options }).catch(
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
