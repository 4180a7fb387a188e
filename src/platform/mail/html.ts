/** HTML that is safe to send, because external text in it was escaped. Created only by {@link html}. */
export interface Html {
  readonly html: string
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] as string)

type Piece = string | number | Html | readonly Html[]

/** Tags a template: escapes all inserted values, except HTML from this tag. */
export function html(strings: TemplateStringsArray, ...pieces: Piece[]): Html {
  return { html: strings.reduce((whole, part, index) => whole + rendered(pieces[index - 1] as Piece) + part) }
}

function rendered(piece: Piece): string {
  if (typeof piece === 'object') return 'html' in piece ? piece.html : piece.map((each) => each.html).join('')
  return escaped(String(piece))
}

/** What an account shows at the head of its mails. It has no picture, because most mail programs hide pictures. */
interface MailHead {
  readonly name: string
  /** `#rrggbb` */
  readonly color: string | null
}

const headOf = ({ name, color }: MailHead): Html =>
  html`<p style="margin:0 0 20px;padding:0 0 12px;border-bottom:3px solid;font-size:18px;font-weight:bold;color:${color ?? '#1d2129'}">${name}</p>`

/** Returns the frame of every mail, readable without pictures, style sheets or a wide window. */
export const mailPage = (title: string, content: Html, head?: MailHead): Html =>
  html`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title></head>
<body style="margin:0;padding:24px;background:#f4f5f7;font:16px/1.5 sans-serif;color:#1d2129">
<div style="max-width:36em;margin:0 auto;padding:24px;background:#fff;border-radius:8px">
${head ? [headOf(head)] : []}<h1 style="margin:0 0 16px;font-size:20px">${title}</h1>
${content}
</div>
</body>
</html>
`
