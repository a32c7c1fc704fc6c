/* Manual pages in man(7): the pieces that the page of the program and those of its commands share.
 * `acraft --help=man` and `acraft COMMAND --help=man` print them; `make install` keeps what they print.
 */
#ifndef CMD_MAN_H
#define CMD_MAN_H

void man_head(const char *name); /* the title line of section 1 */
void man_text(const char *text); /* one paragraph, escaped, with a line end */
void man_sentence(
    const char *text); /* prints the first sentence of the text, without its full stop */

#endif
