import { commonTexts } from './texts/common.ts'

const format = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** A time of the API in the words of the person's own place. */
export const timeOf = (iso: string | null): string =>
  iso === null ? commonTexts.unknown : format.format(new Date(iso))

const days = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', year: 'numeric' })

/** The day alone. */
export const dayOf = (iso: string | null): string => (iso === null ? commonTexts.unknown : days.format(new Date(iso)))
