/** A part of a line. */
export type Inline =
  | string
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'strong' | 'em'; readonly parts: readonly Inline[] }
  | { readonly kind: 'link'; readonly to: string; readonly parts: readonly Inline[] }

export type Block =
  | { readonly kind: 'heading' | 'text' | 'quote'; readonly lines: readonly (readonly Inline[])[] }
  | { readonly kind: 'list'; readonly isOrdered: boolean; readonly items: readonly (readonly Inline[])[] }
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'rule' }

/** Each part is bounded, so that no text takes long: it tries at most this many characters at each position. */
const mark =
  /`([^`]{1,500})`|\*\*([^*]{1,500})\*\*|\*([^*\s][^*]{0,500})\*|\b_([^_\s][^_]{0,500})_\b|\[([^\][]{1,300})\]\(([^()\s]{1,1000})\)|(https?:\/\/[^\s<>()"'`*]{1,1000})/g

/** Addresses that a link may have: none that runs a script. */
const isSafe = (address: string): boolean => /^(?:https?:\/\/|mailto:)/i.test(address)

export function inlinesOf(line: string): Inline[] {
  const parts: Inline[] = []
  let end = 0
  for (const found of line.matchAll(mark)) {
    const [whole, code, strong, starred, scored, name, address, bare] = found
    const to = address ?? bare
    if (to !== undefined && !isSafe(to)) continue
    if (found.index > end) parts.push(line.slice(end, found.index))
    end = found.index + whole.length
    const em = starred ?? scored
    if (code !== undefined) parts.push({ kind: 'code', text: code })
    else if (strong !== undefined) parts.push({ kind: 'strong', parts: inlinesOf(strong) })
    else if (em !== undefined) parts.push({ kind: 'em', parts: inlinesOf(em) })
    else if (name !== undefined) parts.push({ kind: 'link', to: address as string, parts: [name] })
    else parts.push({ kind: 'link', to: bare as string, parts: [bare as string] })
  }
  if (end < line.length) parts.push(line.slice(end))
  return parts
}

const fence = /^\s*```/
const kinds = [
  ['heading', /^#{1,6}\s+/],
  ['quote', /^>\s?/],
  ['bullet', /^\s*[-*+]\s+/],
  ['number', /^\s*\d{1,9}[.)]\s+/],
] as const

/** Parses Markdown without HTML: headings, lists, quotes, code, rules, emphasis, links. Everything else is text. */
export function markdownOf(text: string): Block[] {
  const blocks: Block[] = []
  const lines = text.split(/\r?\n/)
  for (let at = 0; at < lines.length; ) {
    const line = lines[at] as string
    const kind = kinds.find(([, begin]) => begin.test(line))
    if (line.trim() === '') at++
    else if (fence.test(line)) {
      let last = at + 1
      while (last < lines.length && !fence.test(lines[last] as string)) last++
      blocks.push({ kind: 'code', text: lines.slice(at + 1, last).join('\n') })
      at = last + 1
    } else if (/^\s*(?:-{3,}|\*{3,})\s*$/.test(line)) {
      blocks.push({ kind: 'rule' })
      at++
    } else {
      const isSame = (each: string) =>
        kind
          ? kind[1].test(each)
          : each.trim() !== '' && !fence.test(each) && !kinds.some(([, begin]) => begin.test(each))
      const begin = at
      // A heading is one line.
      do at++
      while (at < lines.length && kind?.[0] !== 'heading' && isSame(lines[at] as string))
      const parts = lines.slice(begin, at).map((each) => inlinesOf(kind ? each.replace(kind[1], '') : each))
      if (kind?.[0] === 'bullet' || kind?.[0] === 'number')
        blocks.push({ kind: 'list', isOrdered: kind[0] === 'number', items: parts })
      else blocks.push({ kind: kind?.[0] ?? 'text', lines: parts })
    }
  }
  return blocks
}
