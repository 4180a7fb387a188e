import { createNote } from './create-note.ts'
import { deleteNote } from './delete-note.ts'
import { getNote } from './get-note.ts'
import { listNotes } from './list-notes.ts'
import { updateNote } from './update-note.ts'

/** In the order of the API description. */
export const endpoints = [listNotes, createNote, getNote, updateNote, deleteNote]
