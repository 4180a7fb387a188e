import { createAlertChat } from './chat/create-alert-chat.ts'
import { deleteAlertChat } from './chat/delete-alert-chat.ts'
import { listAlertChats } from './chat/list-alert-chats.ts'
import { testAlertChat } from './chat/test-alert-chat.ts'
import { createAlertMute } from './create-alert-mute.ts'
import { deleteAlertMute } from './delete-alert-mute.ts'
import { getAlertSettings } from './get-alert-settings.ts'
import { listAlertMutes } from './list-alert-mutes.ts'
import { listAlerts } from './list-alerts.ts'
import { markAlertsRead } from './mark-alerts-read.ts'
import { updateAlertSettings } from './update-alert-settings.ts'

/** In the order of the API description. */
export const endpoints = [
  listAlerts,
  markAlertsRead,
  getAlertSettings,
  updateAlertSettings,
  listAlertMutes,
  createAlertMute,
  deleteAlertMute,
  listAlertChats,
  createAlertChat,
  testAlertChat,
  deleteAlertChat,
]
