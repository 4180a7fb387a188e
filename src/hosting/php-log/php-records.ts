import { droppedIn, type LogRecord } from '../../platform/log-store/log-store.ts'
import { codeOwner, type PhpMessage, type Severity, severities } from './php-message.ts'

/** One PHP error in the format of the API. */
export interface PhpLogEntry extends PhpMessage {
  /** The owner of the code: `plugin`, `mu-plugin`, `theme`, `core`, or empty. */
  readonly kind: string
  readonly name: string
  readonly atMs: number
  readonly siteId: number
}

/** Returns the number of a severity, by which entries can be searched. */
export const severityFacet = (severity: Severity): number => severities.indexOf(severity) + 1

/** Returns the stored form of a message. */
export function phpRecord(at: Pick<LogRecord, 'siteId' | 'atMs' | 'id'>, message: PhpMessage): LogRecord {
  return {
    ...at,
    facet: severityFacet(message.severity as Severity),
    key: '',
    body: JSON.stringify([message.message, message.file, message.line]),
  }
}

/** Returns the entry that {@link phpRecord} stored as a record. */
export function phpEntryOf(record: LogRecord): PhpLogEntry {
  const dropped = droppedIn(record)
  if (dropped !== undefined) {
    const message = `… ${dropped} messages of this day were omitted because the site reached its limit.`
    const nobodys = { kind: '', name: '', file: '', line: -1 }
    return { message, severity: 'User', ...nobodys, atMs: record.atMs, siteId: record.siteId }
  }
  const [message, file, line] = JSON.parse(record.body) as [string, string, number]
  const severity = severities[record.facet - 1] ?? 'Unknown error'
  return { message, severity, ...codeOwner(file), file, line, atMs: record.atMs, siteId: record.siteId }
}
