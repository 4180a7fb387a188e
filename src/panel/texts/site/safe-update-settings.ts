export const safeUpdateSettingsTexts = {
  open: 'What to compare',
  title: 'What safe updates compare',
  masks: 'Hidden elements',
  masksHint:
    'CSS selectors, one per line, such as .visitor-counter. Pictures leave these elements out, because they change without an update. Their text is still compared.',
  paths: 'More pages',
  pathsHint: 'Paths, one per line, such as /checkout/. Every safe update of this site compares them, too.',
  save: 'Save',
  saved: 'Saved what safe updates compare',
}
