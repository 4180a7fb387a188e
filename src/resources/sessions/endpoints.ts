import { endSession } from './end-session.ts'
import { listSessions } from './list-sessions.ts'

export const endpoints = [listSessions, endSession]
