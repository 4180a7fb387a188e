import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { actions } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { changeChat, findChat } from './chat.store.ts'
import { ChatId, ChatSchema, presentChat } from './chat.ts'

export const testAlertChat = endpoint({
  id: 'testAlertChat',
  method: 'POST',
  path: '/v1/alerts/chats/{id}/test',
  summary: 'Send a test message to a chat room',
  description: 'Sends it within a minute. Then `sent_at` or `fault` of the chat room tells whether it arrived.',
  access: { account: 'own' },
  params: Type.Object({ id: ChatId }),
  response: ChatSchema,

  async handle(context, { params }) {
    const { tx, caller, now } = context
    const chat = await findChat(tx, caller.accountId, params.id)
    if (!chat) throw notFound()
    // Its pause after a failure does not apply: the person may have repaired it.
    if (chat.testAt === null) await changeChat(tx, chat.id, { test_at: now, next_at: now })
    await context.record({ action: actions.settings, message: `Requested a test message to the chat room ${chat.id}` })
    return presentChat(chat)
  },
})
