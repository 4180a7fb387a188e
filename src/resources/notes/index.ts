import { createNote } from './create-note.ts'
import { deleteNote } from './delete-note.ts'
import { getNote } from './get-note.ts'
import { listNotes } from './list-notes.ts'
import { updateNote } from './update-note.ts'

export const notes = { operations: [listNotes, createNote, getNote, updateNote, deleteNote] }
