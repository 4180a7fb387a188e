import Type from 'typebox'
import { notFound } from '../../../platform/http/problem.ts'
import { Nothing } from '../../../platform/http/schemas.ts'
import { actions } from '../../account/public.ts'
import { endpoint } from '../../kit/endpoint.ts'
import { deleteChatRow, findChat } from './chat.store.ts'
import { ChatId } from './chat.ts'

export const deleteAlertChat = endpoint({
  id: 'deleteAlertChat',
  method: 'DELETE',
  path: '/v1/alerts/chats/{id}',
  summary: 'Stop sending alerts to a chat room',
  description: 'Messages that were not sent yet are dropped.',
  access: { account: 'own' },
  params: Type.Object({ id: ChatId }),
  response: Nothing,

  async handle(context, { params }) {
    const { tx, caller } = context
    const chat = await findChat(tx, caller.accountId, params.id)
    // Of two requests, one deletes it.
    if (!chat || !(await deleteChatRow(tx, chat.id))) throw notFound()
    const message = `Alerts no longer go to the chat room ${chat.id} (${chat.host})`
    await context.record({ action: actions.settings, message })
    return null
  },
})
