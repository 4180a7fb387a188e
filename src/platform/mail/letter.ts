import { type Html, html, mailPage } from './html.ts'

/** A paragraph of a mail: text, or an address that is to be opened. */
export type Paragraph = string | { readonly link: string }

/** A mail of paragraphs, as text and as a page. */
export function letter(
  subject: string,
  paragraphs: readonly Paragraph[],
): { subject: string; text: string; html: Html } {
  const texts = paragraphs.map((each) => (typeof each === 'string' ? each : each.link))
  const content = paragraphs.map((each) =>
    typeof each === 'string' ? html`<p>${each}</p>` : html`<p><a href="${each.link}">${each.link}</a></p>`,
  )
  return { subject, text: `${texts.join('\n\n')}\n`, html: mailPage(subject, html`${content}`) }
}
