export const notesTexts = {
  title: 'Notes',
  empty: 'No notes. What the next person should know of this site is well kept here.',
  add: 'New note',
  subject: 'Subject',
  body: 'Note',
  save: 'Save',
  edit: 'Edit',
  editOf: (subject: string) => `Edit ${subject}`,
  delete: 'Delete',
  deleteOf: (subject: string) => `Delete ${subject}`,
  deleteIs: 'The note is gone for everybody.',
  by: (author: string, time: string) => `${author}, ${time}`,
}
