/** Reads the sentences of texts that people read. */

/** A sentence and the line of its file on which its paragraph begins. */
export interface Sentence {
  readonly text: string
  readonly line: number
}

/** Counts the words of a sentence. Numbers are words, signs are not. */
export const wordsOf = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Splits a paragraph after a full stop, a question mark or an exclamation mark, where a new sentence begins. */
const split = (paragraph: string): string[] =>
  paragraph
    .replace(/\s+/g, ' ')
    .split(/(?<=[.!?][)*"”]*)\s+(?=[*"“(]*[\p{Lu}`\d[])/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => wordsOf(sentence) > 1)

/** Replaces each character but line ends, so that lines keep their numbers. */
const blank = (text: string): string => text.replace(/[^\n]/g, '')

/** Returns the sentences of a Markdown page. Code counts as one word, link targets as none, and each table cell stands alone. */
export function sentencesOfPage(page: string): Sentence[] {
  const prose = page
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .replace(/^ {4}\S.*$/gm, (line, at: number) => (/\n\n(?: {4}.*\n)*$/.test(page.slice(0, at)) ? '' : line))
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/`[^`\n]+`/g, '`code`')
    .replace(/!\[[^\]]*\]\([^)]*\)/g, blank)
    .replace(/\[([^\]]*)\]\([^)\s]*\)/g, '$1')
  const found: Sentence[] = []
  let paragraph: string[] = []
  let begin = 0
  const end = () => {
    for (const text of split(paragraph.join(' '))) found.push({ text, line: begin })
    paragraph = []
  }
  for (const [index, line] of prose.split('\n').entries()) {
    const row = line.startsWith('|')
    if (row || line.trim() === '' || /^(#|\s*[-*] |\s*\d+\. )/.test(line)) end()
    if (row) {
      for (const cell of line.split('|')) for (const text of split(cell)) found.push({ text, line: index + 1 })
      continue
    }
    if (line.trim() === '') continue
    if (paragraph.length === 0) begin = index + 1
    paragraph.push(line.replace(/^(#+|\s*[-*]|\s*\d+\.) /, ''))
    if (line.startsWith('#')) end()
  }
  end()
  return found
}

/** Returns the sentences of summaries and descriptions of an OpenAPI document. */
export function sentencesOfApi(document: string): Sentence[] {
  const found: Sentence[] = []
  JSON.parse(document, (key, value) => {
    if (['summary', 'description'].includes(key) && typeof value === 'string') found.push(...sentencesOfPage(value))
    return value
  })
  return found
}

/** Returns the lines of a page that are longer than `most`, without code, table rows and lines of one word, which cannot be broken. */
export function longLines(page: string, most: number): { line: number; length: number }[] {
  return page
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .split('\n')
    .flatMap((text, index) => {
      const breakable = /\S\s+\S/.test(
        text.replace(/^\s*(?:[-*]|\d+\.)\s+/, '').replace(/!?\[[^\]]*\]\([^)]*\)/g, 'link'),
      )
      const length = [...text].length
      return length > most && breakable && !/^( {4}|\|)/.test(text) ? [{ line: index + 1, length }] : []
    })
}

/** Returns the relative links of a page, with their lines. */
export function linksOf(page: string): { target: string; line: number }[] {
  const lines = page
    .replace(/^```[\s\S]*?^```$/gm, blank)
    .replace(/`[^`\n]+`/g, '')
    .split('\n')
  return lines.flatMap((text, index) =>
    [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) =>
      /^[a-z]+:/.test(target) ? [] : [{ target, line: index + 1 }],
    ),
  )
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
export function anchorsOf(page: string): Set<string> {
  const anchors = new Set<string>()
  for (const [, title = ''] of page.replace(/^```[\s\S]*?^```$/gm, blank).matchAll(/^#+ (.+)$/gm)) {
    const words = title.toLowerCase().replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const anchor = words.replace(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-')
    let again = 0
    while (anchors.has(again ? `${anchor}-${again}` : anchor)) again++
    anchors.add(again ? `${anchor}-${again}` : anchor)
  }
  return anchors
}

/** Lines for tools, which nobody reads as prose. */
const FOR_TOOLS = /^(?:biome-ignore|@ts-|phpcs|shellcheck|region)/
/** The term of a list such as `lease   a right to one operation`, or of an indented list of commands. */
const TERM = /^(?:[\w./-]+(?: \w+)?\s{2,}| {2,}(?=\S))/

/**
 * Returns the sentences of the comments of a file. Tags stand alone, without their names. Comments behind code count if
 * the line has no quotation marks.
 * @param hash whether `#` begins a comment too, as in PHP and shell scripts
 */
export function sentencesOfComments(code: string, { hash = false } = {}): Sentence[] {
  const found: Sentence[] = []
  let block: string[] = []
  let begin = 0
  const end = () => {
    for (const { text } of sentencesOfPage(block.join('\n'))) found.push({ text, line: begin })
    block = []
  }
  const add = (text: string, line: number) => {
    const tag = /^@\w+ ?/.exec(text)
    if (tag || text.trim() === '') end()
    if (FOR_TOOLS.test(text)) return
    if (block.length === 0) begin = line
    if (text.trim()) block.push(text.replace(/^@(?:param \S+|\w+) ?/, '').replace(TERM, '- '))
  }
  const own = hash ? /^\s*(?:\/\/|#(?!!))\s?(.*)$/ : /^\s*\/\/ ?(.*)$/
  let isBlock = false
  for (const [index, line] of code.split('\n').entries()) {
    const opened: string | undefined = isBlock ? line : /^\s*\{?\/\*(\*?.*)$/.exec(line)?.[1]
    if (opened !== undefined) {
      if (!isBlock) end()
      isBlock = !opened.includes('*/')
      add(opened.replace(/\s*\*\/.*$/, '').replace(/^\s*\* ?/, ''), index + 1)
      if (!isBlock) end()
      continue
    }
    const alone = own.exec(line)?.[1]
    if (alone !== undefined) {
      add(alone, index + 1)
      continue
    }
    end()
    const behind = /^[^'"`]*[;,(){}\]\w] +\/\/ ([^'"`]*)$/.exec(line)?.[1]
    if (behind !== undefined) add(behind, index + 1)
    end()
  }
  end()
  return found
}
