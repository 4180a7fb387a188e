import Type from 'typebox'
import { lockForUpdate } from '../../../platform/db/database.ts'
import { invalidInput, Problem } from '../../../platform/http/problem.ts'
import { actions } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { urlFault } from '../../webhooks/public.ts'
import { problems } from '../problems.ts'
import { countChats, insertChat } from './chat.store.ts'
import { CHAT_PURPOSE, ChatSchema, chatFields, MOST_CHATS, presentChat } from './chat.ts'

export const createAlertChat = endpoint({
  id: 'createAlertChat',
  method: 'POST',
  path: '/v1/alerts/chats',
  summary: 'Send alerts to a chat room',
  description:
    'Sends alerts of your sites to an incoming webhook of Slack, Mattermost, Discord, or a compatible chat program. ' +
    'Your mutes apply. The URL is secret: Stead never shows it again.',
  access: { account: 'own' },
  body: Type.Object(
    {
      url: chatFields.url,
      description: Type.Optional(chatFields.description),
      kinds: Type.Optional(chatFields.kinds),
    },
    { title: 'NewAlertChat' },
  ),
  response: ChatSchema,
  problems: [problems.chat_limit_reached],

  async handle(context, { body }) {
    const { tx, caller, config, sealer, now } = context
    const { accountId } = caller
    const url = body.url.trim()
    const fault = urlFault(url, { allowPrivate: config.allowPrivateFetch })
    if (fault) throw invalidInput([fault])
    await lockForUpdate(tx, 'accounts', accountId)
    if ((await countChats(tx, accountId)) >= MOST_CHATS)
      throw new Problem(problems.chat_limit_reached, { limit: MOST_CHATS })
    const { host } = new URL(url)
    const { description = '', kinds = null } = body
    const draft = { urlSealed: sealer.seal(url, CHAT_PURPOSE), host, description, kinds }
    const chat = await insertChat(tx, accountId, draft, now)
    await context.record({ action: actions.settings, message: `Alerts go to the chat room ${chat.id} (${host})` })
    return presentChat(chat)
  },
})
