import { type Html, html, mailPage } from './html.ts'

/** A paragraph of a mail: text, an address to open, or a page of the control panel to open. */
export type Paragraph = string | { readonly link: string } | { readonly panel: string }

/**
 * A placeholder for the URL of the control panel until a mail is sent, because hosts also write mails but do not know
 * it.
 */
export const PANEL = 'stead-panel:'

/** The account on whose behalf Stead sends a mail. */
export interface MailBrand {
  /** The name of the sender. The address is that of the installation. */
  readonly name: string
  /** `#rrggbb` that can be read on white. */
  readonly color: string | null
  readonly replyTo: string | null
}

interface Letter {
  readonly subject: string
  readonly text: string
  readonly html: Html
  readonly senderName?: string
  readonly replyTo?: string
}

/** Returns a mail of paragraphs, as text and as HTML. Without a brand, it is a mail of Stead. */
export function letter(subject: string, paragraphs: readonly Paragraph[], brand?: MailBrand): Letter {
  const texts = paragraphs.map((each) => (typeof each === 'string' ? each : addressOf(each)))
  const content = paragraphs.map((each) =>
    typeof each === 'string' ? html`<p>${each}</p>` : html`<p><a href="${addressOf(each)}">${addressOf(each)}</a></p>`,
  )
  return {
    ...{ subject, text: `${texts.join('\n\n')}\n`, html: mailPage(subject, html`${content}`, brand) },
    ...(brand && { senderName: brand.name }),
    ...(brand?.replyTo && { replyTo: brand.replyTo }),
  }
}

const addressOf = (each: { link: string } | { panel: string }): string =>
  'link' in each ? each.link : `${PANEL}/#${each.panel}`
