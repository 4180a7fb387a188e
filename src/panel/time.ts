import { commonTexts } from './texts/common.ts'

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A time of the API in the words of the person's own place. */
export const timeOf = (iso: string | null): string =>
  iso === null ? commonTexts.unknown : format.format(new Date(iso))

/** Of a backup, whose time reads `2026-01-31-09-30`, in UTC. */
export const timeOfBackup = (text: string): string =>
  timeOf(text.replace(/^(\d+-\d+-\d+)-(\d+)-(\d+)$/, '$1T$2:$3:00Z'))
