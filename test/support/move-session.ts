import { sessionHash } from '../../src/resources/sessions/session.ts'
import type { Person, TestApi } from './api.ts'

/** Moves the session of a person to the address where a browser uses it: it is valid only where it began. */
export const moveSession = ({ database }: Pick<TestApi, 'database'>, { sessionToken }: Person, origin: string) =>
  database.transaction((tx) =>
    tx.updateTable('sessions').set({ origin }).where('token_hash', '=', sessionHash(sessionToken)).execute(),
  )
