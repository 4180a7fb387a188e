import Type from 'typebox'
import type { Tx } from '../../../platform/db/database.ts'
import { nullable, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import { monthName } from '../month.ts'
import { mailsOfSite, recipientsOf } from './recipients.store.ts'

export const MOST_REPORT_RECIPIENTS = 10
/** The mails that the settings show. */
const MOST_MAILS = 50

export const recipientsField = Type.Array(Type.String({ maxLength: 254, examples: ['client@example.com'] }), {
  maxItems: MOST_REPORT_RECIPIENTS,
  description: 'Mail addresses. Each gets the report of the last month when it has ended',
  examples: [['client@example.com']],
})

export const ClientReportSettings = Type.Object(
  {
    recipients: recipientsField,
    mails: Type.Array(
      Type.Object(
        {
          month: Type.String({ examples: ['2026-10'] }),
          recipient: Type.String({ examples: ['client@example.com'] }),
          requested_at: Timestamp,
          sent_at: nullable({ ...Timestamp, description: 'Null: not sent yet, or not at all' }),
          fault: nullable(Type.String({ description: 'Why it was not sent', examples: [null] })),
        },
        { title: 'ClientReportMail' },
      ),
      { description: `The newest ${MOST_MAILS} mails, those of the last month first` },
    ),
  },
  { title: 'ClientReportSettings' },
)

export async function presentReportSettings(tx: Tx, siteId: number): Promise<Type.Static<typeof ClientReportSettings>> {
  const mails = await mailsOfSite(tx, siteId, MOST_MAILS)
  return {
    recipients: await recipientsOf(tx, siteId),
    mails: mails.map(({ month, address, requestedAt, sentAt, fault }) => ({
      month: monthName(month),
      recipient: address,
      requested_at: timestamp(requestedAt),
      sent_at: sentAt === null ? null : timestamp(sentAt),
      fault,
    })),
  }
}
