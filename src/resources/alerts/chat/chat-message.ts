import { titleOf } from '../alert.ts'
import type { DueNotice } from '../tell/notice.store.ts'

/** A message names this many alerts, and counts the others. */
const MOST_NAMED = 15
const DETAIL_CHARACTERS = 200
/** Discord refuses longer messages. */
const MOST_CHARACTERS = 1900

export const TEST_MESSAGE = 'Test message of Stead: alerts will arrive here.'

/** Returns a message about some alerts, as plain text. */
export function chatText(notices: readonly DueNotice[], panelUrl: string): string {
  const lines = notices.slice(0, MOST_NAMED).map(lineOf)
  const left = notices.length - lines.length
  const more = left > 0 ? [`${left} more alerts`] : []
  const end = `\n${panelUrl}/#/alerts`
  return `${[...lines, ...more].join('\n').slice(0, MOST_CHARACTERS - end.length)}${end}`
}

function lineOf(notice: DueNotice): string {
  const title = titleOf(notice, notice.event)
  return notice.event === 'began'
    ? `Alert: ${title}. ${notice.detail.slice(0, DETAIL_CHARACTERS)}`
    : `Resolved: ${title}`
}

/**
 * Returns the body for a chat program. Names and details may come from a site, so nothing in them may call people or
 * format text: Slack and Mattermost read `<…>` and `@…`.
 */
export function chatBody(url: string, text: string): string {
  const { hostname, pathname } = new URL(url)
  const calm = text.replaceAll('@', '@\u200b')
  const isDiscord = /(^|\.)discord(app)?\.com$/.test(hostname) && !/\/slack\/?$/.test(pathname)
  if (isDiscord) return JSON.stringify({ content: calm, allowed_mentions: { parse: [] } })
  return JSON.stringify({ text: calm.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') })
}
