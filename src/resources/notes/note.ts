import Type from 'typebox'
import { Timestamp, timestamp } from '../../platform/http/schemas.ts'

/** A note on a site. The body is stored exactly as sent, including HTML. Stead never renders it. */
export interface Note {
  readonly id: number
  readonly author: string
  readonly editor: string
  readonly subject: string
  readonly body: string
  readonly createdAt: number
  readonly updatedAt: number
}

export const NoteId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const NoteSchema = Type.Object(
  {
    id: Type.Integer(),
    author: Type.String({ examples: ['owner@example.com'] }),
    editor: Type.String({ description: 'Person who last changed the note', examples: ['owner@example.com'] }),
    subject: Type.String({ examples: ['Opening hours'] }),
    body: Type.String({
      description: 'May contain HTML. Stead stores it unchanged',
      examples: ['<p>They change in May.</p>'],
    }),
    created: Timestamp,
    updated: Timestamp,
  },
  { title: 'Note' },
)

export const noteFields = {
  subject: Type.String({ minLength: 1, maxLength: 255, examples: ['Opening hours'] }),
  body: Type.String({ maxLength: 200_000, examples: ['<p>They change in May.</p>'] }),
}

/** The Note object of the API. */
export function presentNote(note: Note): Type.Static<typeof NoteSchema> {
  const { createdAt, updatedAt, ...rest } = note
  return { ...rest, created: timestamp(createdAt), updated: timestamp(updatedAt) }
}
