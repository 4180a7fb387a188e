export { forgetPersonOf, noteAccount, notePerson, noteSite, withdrawSite } from './search-words.store.ts'
