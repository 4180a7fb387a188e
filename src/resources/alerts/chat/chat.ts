import Type from 'typebox'
import { nullable, Timestamp, timestamp } from '../../../platform/http/schemas.ts'
import { KindField } from '../alert.ts'

/** A room of a chat program that gets alerts. */
export interface AlertChat {
  readonly id: number
  readonly accountId: number
  readonly urlSealed: string
  readonly host: string
  readonly description: string
  /** Null for all, including those of later versions. */
  readonly kinds: readonly string[] | null
  readonly testAt: number | null
  readonly sentAt: number | null
  readonly failingSince: number | null
  readonly fault: string | null
  readonly createdAt: number
}

export const MOST_CHATS = 5

/** The sealer binds URLs to this purpose. */
export const CHAT_PURPOSE = 'alert chat url'

export const ChatId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const chatFields = {
  url: Type.String({
    description: 'URL of an incoming webhook of Slack, Mattermost, Discord, or a compatible chat program',
    minLength: 1,
    maxLength: 2000,
    examples: ['https://hooks.example.com/services/T0000/B0000/secret'],
  }),
  description: Type.String({ maxLength: 500, examples: ['#operations'] }),
  kinds: nullable(
    Type.Array(KindField, {
      description: 'Kinds of alerts to send. Null for all kinds, including those of later versions',
      minItems: 1,
      maxItems: 100,
      examples: [null],
    }),
  ),
}

export const ChatSchema = Type.Object(
  {
    id: Type.Integer({ examples: [2] }),
    host: Type.String({
      description: 'Host of the URL. Stead never shows the rest, which is secret',
      examples: ['hooks.example.com'],
    }),
    description: chatFields.description,
    kinds: nullable(Type.Array(Type.String(), { description: 'Null for all kinds', examples: [null] })),
    sent_at: nullable(Type.String({ ...Timestamp, description: 'When a message last arrived' })),
    failing_since: nullable(
      Type.String({ description: 'Since when no message has arrived. Null if messages arrive', examples: [null] }),
    ),
    fault: nullable(Type.String({ description: 'Why the last message did not arrive', examples: [null] })),
    created_at: Timestamp,
  },
  { title: 'AlertChat' },
)

const time = (at: number | null) => (at === null ? null : timestamp(at))

export const presentChat = (chat: AlertChat): Type.Static<typeof ChatSchema> => ({
  id: chat.id,
  host: chat.host,
  description: chat.description,
  kinds: chat.kinds && [...chat.kinds],
  sent_at: time(chat.sentAt),
  failing_since: time(chat.failingSince),
  fault: chat.fault,
  created_at: timestamp(chat.createdAt),
})
