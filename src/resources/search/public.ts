/** What other folders may import from this resource. */
export { forgetPersonOf, noteAccount, notePerson, noteSite, withdrawSite } from './search-words.store.ts'
