import { readFileSync } from 'node:fs'

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
