// Embeds the encoded op definitions (an OpList message) in the program, between two symbols.

    .section .rodata.troupe_op_definitions, "a", @progbits
    .balign 16
    .globl troupe_op_definitions_begin
    .type troupe_op_definitions_begin, @object
troupe_op_definitions_begin:
    .incbin TROUPE_OP_DEFINITIONS_FILE
    .size troupe_op_definitions_begin, . - troupe_op_definitions_begin

    .globl troupe_op_definitions_end
    .type troupe_op_definitions_end, @object
troupe_op_definitions_end:
    .byte 0
    .size troupe_op_definitions_end, 1

    .section .note.GNU-stack, "", @progbits
