/* Messages as text. */
#include "gen/chat.h"

const char *chat_role_text(ChatRole role)
{
    static const char *const texts[] = {"system", "user", "assistant"};
    return texts[role];
}

void chat_messages_json(const ChatMessages *messages, Buf *out)
{
    buf_char(out, '[');
    for (uint32_t i = 0; i < messages->len; i++) {
        const ChatMessage *m = &messages->at[i];
        buf_printf(out, "%s{\"role\": \"%s\", \"content\": ", i ? ", " : "",
                   chat_role_text(m->role));
        buf_json_str(out, m->text);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}
