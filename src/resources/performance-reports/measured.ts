import {
  auditNames,
  categoryNames,
  type Measured,
  type Opportunity,
  opportunityAudits,
  THUMBNAIL_AUDIT,
} from './report.ts'

/** The result for one device. */
export interface Measurement {
  readonly measured: Measured
  /** Improvements, those with the largest effect first. */
  readonly opportunities: readonly Opportunity[]
  /** JPEG, Base64. */
  readonly thumbnail: string | null
}

/** Lighthouse’s own limit for a good score. */
const GOOD = 0.9
const TEXT_LENGTH = 2000
/** The most characters of a picture in Base64. Lighthouse’s pictures have about 40 KB. */
const THUMBNAIL_LENGTH = 512 << 10
const JPEG = 'data:image/jpeg;base64,'

/**
 * Maps the result of the measuring process, which loaded an untrusted page. Drops values of the wrong type, and cuts
 * long ones.
 * @returns undefined for what is not a result of Lighthouse
 */
export function readMeasurement(result: unknown): Measurement | undefined {
  const { categories, audits, ...rest } = objectOf(result)
  if (
    objectOf(rest.runtimeError).code !== undefined ||
    scoreOf(objectOf(objectOf(categories).performance).score) === null
  )
    return undefined
  const measured: Measured = { final_url: textOf(rest.finalDisplayedUrl) }
  for (const [name, id] of Object.entries(categoryNames)) {
    const { score, title } = objectOf(objectOf(categories)[id])
    measured[`${name}_score`] = scoreOf(score)
    measured[`${name}_title`] = textOf(title)
  }
  for (const [name, id] of Object.entries(auditNames)) {
    const audit = objectOf(objectOf(audits)[id])
    measured[`${name}_title`] = textOf(audit.title)
    measured[`${name}_description`] = textOf(audit.description)
    measured[`${name}_score`] = scoreOf(audit.score)
    measured[`${name}_display_value`] = textOf(audit.displayValue)
    measured[`${name}_numeric_value`] = Number.isFinite(audit.numericValue) ? String(audit.numericValue) : null
    measured[`${name}_numeric_unit`] = textOf(audit.numericUnit)
  }
  measured.lighthouse_version = textOf(rest.lighthouseVersion)
  measured.fetch_time = timeOf(rest.fetchTime)
  return {
    measured,
    opportunities: opportunitiesOf(objectOf(audits)),
    thumbnail: pictureOf(objectOf(objectOf(objectOf(audits)[THUMBNAIL_AUDIT]).details).data),
  }
}

function opportunitiesOf(audits: Record<string, unknown>): Opportunity[] {
  const found = opportunityAudits.flatMap((id) => {
    const { title, description, displayValue, score, metricSavings } = objectOf(audits[id])
    const [name, value] = [textOf(title), scoreOf(score)]
    if (!name || value === null || value >= GOOD) return []
    const savings = Object.values(objectOf(metricSavings)).filter((each) => Number.isFinite(each)) as number[]
    const saved = savings.reduce((sum, each) => sum + each, 0)
    return { saved, shown: { title: name, description: textOf(description), display_value: textOf(displayValue) } }
  })
  return found.sort((one, other) => other.saved - one.saved).map(({ shown }) => shown)
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

// PostgreSQL refuses NUL in a text.
const textOf = (value: unknown): string | null =>
  typeof value === 'string' ? value.slice(0, TEXT_LENGTH).replaceAll('\0', '').toWellFormed() : null

const scoreOf = (value: unknown): number | null =>
  typeof value === 'number' && value >= 0 && value <= 1 ? value : null

function timeOf(value: unknown): string | null {
  const time = typeof value === 'string' ? Date.parse(value) : Number.NaN
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

function pictureOf(value: unknown): string | null {
  if (typeof value !== 'string' || !value.startsWith(JPEG) || value.length > THUMBNAIL_LENGTH) return null
  const bytes = Buffer.from(value.slice(JPEG.length), 'base64')
  return bytes.subarray(0, 3).equals(Buffer.from([0xff, 0xd8, 0xff])) ? bytes.toString('base64') : null
}
