import { STATUS_CODES } from 'node:http'

/** The content of a page. Plain text, which is escaped where needed. */
export interface PlainPageText {
  readonly status: number
  readonly title: string
  readonly text: string
  /** Seconds after which a browser reloads the page. */
  readonly refreshSeconds?: number
}

/** A page in the three forms that visitors request, rendered once. */
export interface PlainPage {
  readonly status: number
  readonly reason: string
  readonly html: Buffer
  readonly json: Buffer
  readonly text: Buffer
}

/** 480 is not a registered status. The others have their names from the registry. */
const REASONS: Record<number, string> = { ...STATUS_CODES, 480: 'Temporarily Unavailable' }

/** Returns the reason phrase of a status, `''` for an unknown one. */
export const reasonOf = (status: number): string => REASONS[status] ?? ''

/** Renders a small accessible page without any external resource. */
export function plainPage(page: PlainPageText): PlainPage {
  const { status, title, text, refreshSeconds } = page
  return {
    status,
    reason: reasonOf(status),
    html: Buffer.from(html(title, text, refreshSeconds)),
    json: Buffer.from(`${JSON.stringify({ status, title, message: text })}\n`),
    text: Buffer.from(`${title}\n\n${text}\n`),
  }
}

/** Returns the form of a page for an `Accept` header. That is HTML, unless only other forms are requested. */
export function representation(page: PlainPage, accept: string | undefined): { contentType: string; body: Buffer } {
  if (!accept || accept.includes('text/html') || accept === '*/*')
    return { contentType: 'text/html; charset=utf-8', body: page.html }
  if (accept.includes('json')) return { contentType: 'application/json', body: page.json }
  return { contentType: 'text/plain; charset=utf-8', body: page.text }
}

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => escapes[character] as string)

function html(title: string, text: string, refreshSeconds: number | undefined): string {
  const refresh = refreshSeconds ? `<meta http-equiv="refresh" content="${refreshSeconds}">\n` : ''
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}<title>${escapeHtml(title)}</title>
<style>
:root { color-scheme: light dark }
body { font: 1.125rem/1.6 system-ui, sans-serif; max-width: 36rem; margin: 20vh auto 0; padding: 0 1.5rem }
h1 { font-size: 1.5rem; line-height: 1.3 }
</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</main>
</body>
</html>
`
}
