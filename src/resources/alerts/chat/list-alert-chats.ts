import Type from 'typebox'
import { reply } from '../../../platform/http/endpoint.ts'
import { besidesOf, pageOf, pageQuery } from '../../../platform/http/schemas.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { chatsOfAccount, countChats } from './chat.store.ts'
import { ChatSchema, presentChat } from './chat.ts'

export const listAlertChats = endpoint({
  id: 'listAlertChats',
  method: 'GET',
  path: '/v1/alerts/chats',
  summary: 'List the chat rooms that get alerts',
  description: 'Returns one page of the chat rooms of your account, in order of ID.',
  access: { account: 'own' },
  query: Type.Object(pageQuery),
  response: Type.Array(ChatSchema),
  paged: true,

  async handle({ tx, caller }, { query }) {
    const asked = pageOf(query)
    const chats = await chatsOfAccount(tx, caller.accountId, asked)
    return reply(chats.map(presentChat), await besidesOf(asked, chats, () => countChats(tx, caller.accountId)))
  },
})
